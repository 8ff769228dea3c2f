// An object that stands for another one, which is looked for anew at every use.

/** Stands for what `one` gives. Methods are called on that. */
export function standIn<T extends object>(one: () => T): T {
  return new Proxy({} as T, {
    get(_target, name) {
      const now = one();
      const value = Reflect.get(now, name);
      return typeof value === 'function' ? value.bind(now) : value;
    },
  });
}
