/**
 * Arguments of Node for our workers: none of the process, whose flags shape its memory, but the hook of an installed
 * package (bin/strip-types.js).
 */
export const workerArguments: readonly string[] = process.execArgv.filter((one) =>
  one.startsWith('--import='),
);
