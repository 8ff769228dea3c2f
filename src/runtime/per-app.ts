// What one process keeps in memory beside its App: made at the first use, gone with the App. Two Apps
// in one process (as tests open them) share nothing.

/** Returns a function that gives each app a value of its own, made by `make` when it is first asked. */
export function perApp<A extends object, T extends {}>(make: (app: A) => T): (app: A) => T {
  const made = new WeakMap<A, T>();
  return (app) => {
    let value = made.get(app);
    if (value === undefined) {
      value = make(app);
      made.set(app, value);
    }
    return value;
  };
}
