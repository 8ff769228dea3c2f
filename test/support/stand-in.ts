// An object that stands for a second object, which it looks up at every use.

/** Returns a stand-in for the result of `one`; calls methods on that result. */
export function standIn<T extends object>(one: () => T): T {
  return new Proxy({} as T, {
    get(_target, name) {
      const now = one();
      const value = Reflect.get(now, name);
      return typeof value === 'function' ? value.bind(now) : value;
    },
  });
}
