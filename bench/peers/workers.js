// Several Node processes that work off one queue: a process has one thread.
//
// The program that is run forks itself; `serve` is the child's side of it, `Crew` the parent's.
import { fork } from "node:child_process";
import { once } from "node:events";

export const inChild = process.send !== undefined;

// `work()` works until nothing is left.
export function serve(work) {
  process.on("disconnect", () => process.exit(0));
  process.on("message", async () => {
    await work();
    process.send("empty");
  });
  process.send("ready");
}

export class Crew {
  static async start(program, processes, ...parameters) {
    const crew = new Crew();
    crew.children = Array.from({ length: processes }, () => fork(program, parameters));
    await Promise.all(crew.children.map((child) => once(child, "message")));
    return crew;
  }
  async work() {
    const empty = this.children.map((child) => once(child, "message"));
    for (const child of this.children) child.send("work");
    await Promise.all(empty);
  }
  stop() {
    for (const child of this.children) child.disconnect();
  }
}

// Adds and works off, first some to warm up; prints both times in seconds.
export async function measure(count, add, work) {
  await add(5000);
  await work();
  const began = performance.now();
  await add(count);
  const added = performance.now();
  await work();
  const ended = performance.now();
  console.log(`added ${(added - began) / 1000} worked ${(ended - added) / 1000}`);
}

export async function inBatches(count, size, add) {
  for (let left = count; left > 0; left -= size) await add(Math.min(left, size));
}
