// graphile_worker.js URL JOBS [PROCESSES]: no-op jobs through graphile-worker, with what its page on performance sets.
//
// It deletes finished jobs and can't keep them, so it writes less than the others.
import { fileURLToPath } from "node:url";
import { Logger, makeWorkerUtils, runOnce } from "graphile-worker";
import pg from "pg";
import { Crew, inBatches, inChild, measure, serve } from "./workers.js";

const [url, jobs, processes = "2"] = process.argv.slice(2);
const preset = {
  worker: {
    concurrentJobs: 24,
    maxPoolSize: 25,
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
  },
};

if (inChild) {
  const fail = (error) => {
    throw error;
  };
  const pgPool = new pg.Pool({ connectionString: url, max: 25 });
  pgPool.on("error", fail).on("connect", (client) => client.on("error", fail));
  const logger = new Logger(() => () => {});
  serve(() => runOnce({ preset, logger, pgPool, taskList: { noop: async () => {} } }));
} else {
  const utils = await makeWorkerUtils({ connectionString: url });
  await utils.migrate();
  const crew = await Crew.start(fileURLToPath(import.meta.url), Number(processes), url);
  const add = (count) =>
    inBatches(count, 10000, (some) => utils.addJobs(Array(some).fill({ identifier: "noop", payload: {} })));
  await measure(Number(jobs), add, () => crew.work());
  crew.stop();
  await utils.release();
}
