// Measures work for tests of a bound: CPU time of this thread, on which the load of the machine has no
// influence.

/** Milliseconds that this thread's core was at work since `earlier`. */
export function workedMs(earlier: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(earlier);
  return (user + system) / 1_000;
}

/** The start of a span for `workedMs`. */
export function startWork(): NodeJS.CpuUsage {
  return process.threadCpuUsage();
}
