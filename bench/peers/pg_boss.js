// pg_boss.js URL JOBS [PROCESSES] [LOOPS] [BATCH]: no-op jobs through pg-boss, in a queue with a table of its own.
//
// Its own workers do the same as these loops, fetch a batch, then complete it, but do not say when nothing is left.
// Finished jobs stay in the table.
import { fileURLToPath } from "node:url";
import { PgBoss } from "pg-boss";
import { Crew, inBatches, inChild, measure, serve } from "./workers.js";

const [url, jobs, processes = "2", loops = "1", batch = "2000"] = process.argv.slice(2);
const boss = new PgBoss({ connectionString: url, max: 10, supervise: !inChild, schedule: false, migrate: !inChild });
boss.on("error", (error) => {
  throw error;
});
await boss.start();

async function loop() {
  for (;;) {
    const some = await boss.fetch("noop", { batchSize: Number(batch) });
    if (some.length === 0) return;
    await boss.complete("noop", some.map((job) => job.id));
  }
}

if (inChild) {
  serve(() => Promise.all(Array.from({ length: Number(loops) }, loop)));
} else {
  await boss.createQueue("noop", { partition: true });
  const crew = await Crew.start(fileURLToPath(import.meta.url), Number(processes), url, jobs, processes, loops, batch);
  const add = (count) => inBatches(count, 10000, (some) => boss.insert("noop", Array(some).fill({ data: {} })));
  await measure(Number(jobs), add, () => crew.work());
  crew.stop();
  await boss.stop();
}
