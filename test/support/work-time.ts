// How much work something is, where a test holds it to a bound: time on this thread's core, in which
// what else the machine does has no part.

/** Milliseconds that this thread's core was at work since `earlier`. */
export function workedMs(earlier: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(earlier);
  return (user + system) / 1_000;
}

/** The start of a span for `workedMs`. */
export function startWork(): NodeJS.CpuUsage {
  return process.threadCpuUsage();
}
