// Commands that wait for what happens: clock timers do not keep a process alive.

/** Does `work`, and keeps the process alive until it has ended. */
export async function keptAlive<T>(work: () => Promise<T>): Promise<T> {
  const alive = setInterval(() => {}, 60_000);
  try {
    return await work();
  } finally {
    clearInterval(alive);
  }
}
