// river URL JOBS [WORKERS]: no-op jobs through River, with the settings of its own benchmark.
//
// Finished jobs stay in the table for a day.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

const (
	jobsToWarmUp = 5_000
	jobsAtOnce   = 10_000
)

type noopArgs struct{}

func (noopArgs) Kind() string { return "noop" }

type noopWorker struct{ river.WorkerDefaults[noopArgs] }

func (*noopWorker) Work(context.Context, *river.Job[noopArgs]) error { return nil }

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func number(place, otherwise int) int {
	if len(os.Args) <= place {
		return otherwise
	}
	return must(strconv.Atoi(os.Args[place]))
}

func newClient(pool *pgxpool.Pool, workersAtOnce int) *river.Client[pgx.Tx] {
	workers := river.NewWorkers()
	river.AddWorker(workers, &noopWorker{})
	return must(river.NewClient(riverpgxv5.New(pool), &river.Config{
		FetchCooldown:     2 * time.Millisecond,
		FetchPollInterval: 20 * time.Millisecond,
		Logger:            slog.New(slog.NewTextHandler(io.Discard, nil)),
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workersAtOnce}},
		Workers:           workers,
	}))
}

func add(ctx context.Context, client *river.Client[pgx.Tx], jobs int) {
	for left := jobs; left > 0; left -= jobsAtOnce {
		batch := make([]river.InsertManyParams, min(left, jobsAtOnce))
		for i := range batch {
			batch[i].Args = noopArgs{}
		}
		must(client.InsertManyFast(ctx, batch))
	}
}

// Events come when the completion is written.
func work(ctx context.Context, pool *pgxpool.Pool, workersAtOnce, jobs int) time.Duration {
	client := newClient(pool, workersAtOnce)
	completed, cancel := client.SubscribeConfig(&river.SubscribeConfig{
		ChanSize: jobs + 1,
		Kinds:    []river.EventKind{river.EventKindJobCompleted},
	})
	defer cancel()
	began := time.Now()
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	for range jobs {
		<-completed
	}
	worked := time.Since(began)
	if err := client.Stop(ctx); err != nil {
		log.Fatal(err)
	}
	return worked
}

func main() {
	ctx := context.Background()
	jobs := number(2, 0)
	workersAtOnce := number(3, 1_000)
	pool := must(pgxpool.New(ctx, os.Args[1]))
	defer pool.Close()
	must(must(rivermigrate.New(riverpgxv5.New(pool), nil)).Migrate(ctx, rivermigrate.DirectionUp, nil))

	client := newClient(pool, workersAtOnce)
	add(ctx, client, jobsToWarmUp)
	work(ctx, pool, workersAtOnce, jobsToWarmUp)
	began := time.Now()
	add(ctx, client, jobs)
	added := time.Since(began)
	worked := work(ctx, pool, workersAtOnce, jobs)
	fmt.Printf("added %v worked %v\n", added.Seconds(), worked.Seconds())
}
