// Values in memory that belong to a single App: created on first use, freed with the App. Several
// Apps in a process, as in tests, share nothing.

/** Returns a function that gives each app a separate value, built by `make` at the first call. */
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
