// An object that stands for another one, looked up again at every use.

/** Returns a stand-in for the result of `one`. Methods are called on that result. */
export function standIn<T extends object>(one: () => T): T {
  return new Proxy({} as T, {
    get(_target, name) {
      const now = one();
      const value = Reflect.get(now, name);
      return typeof value === 'function' ? value.bind(now) : value;
    },
  });
}
