// Runs operations on files of the command line. After a command has left root's account, files of
// root are out of reach. So a second process, started before, keeps root's account for such
// operations only. Paths below dataDir never belong to root; the command itself accesses them.
import { type ChildProcess, fork } from 'node:child_process';
import { join, resolve, sep } from 'node:path';
import type { BrokerAnswer, BrokerRequest } from './file-broker-process.ts';
import { type FileOperations, fileOperations } from './file-operations.ts';

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

interface Broker {
  process: ChildProcess;
  dataDir: string;
  waiting: Map<number, Waiting>;
}

let broker: Broker | null = null;
let lastId = 0;

/** Starts the process of root. It ends with the command. */
export function startFileBroker(paths: readonly string[], dataDir: string): void {
  const file = join(import.meta.dirname, 'file-broker-process.ts');
  const child = fork(file, [...paths], { serialization: 'advanced' });
  const waiting = new Map<number, Waiting>();
  child.on('message', ({ id, result, error }: BrokerAnswer) => {
    const found = waiting.get(id);
    waiting.delete(id);
    if (error) found?.reject(Object.assign(new Error(error.message), error));
    else found?.resolve(result);
    if (waiting.size === 0) child.channel?.unref();
  });
  const end = (reason: Error) => {
    for (const { reject } of waiting.values()) reject(reason);
    waiting.clear();
  };
  child.on('error', end);
  child.on('exit', () => end(new Error('the process that keeps the files of root has ended')));
  child.unref();
  child.channel?.unref();
  broker = { process: child, dataDir, waiting };
}

/** Tells whether root's process handles this path: if it runs, all paths outside of `dataDir`. */
export function isRootsPath(path: string): boolean {
  if (!broker) return false;
  const file = resolve(path);
  return file !== broker.dataDir && !file.startsWith(`${broker.dataDir}${sep}`);
}

/**
 * Runs an operation of file-operations.ts. For a path of `isRootsPath`, root's process runs it, and
 * rejects a path that the command line does not name.
 */
export function fileOperation<Name extends keyof FileOperations>(
  operation: Name,
  ...args: Parameters<FileOperations[Name]>
): ReturnType<FileOperations[Name]> {
  const [path, ...rest] = args as [string, ...unknown[]];
  const here = fileOperations[operation] as (...all: unknown[]) => Promise<unknown>;
  const done =
    broker && isRootsPath(path)
      ? ask(broker, operation, [resolve(path), ...rest])
      : here(path, ...rest);
  return done as ReturnType<FileOperations[Name]>;
}

function ask(
  { process: child, waiting }: Broker,
  operation: keyof FileOperations,
  args: unknown[],
): Promise<unknown> {
  lastId += 1;
  const request: BrokerRequest = { id: lastId, operation, args };
  return new Promise((resolve, reject) => {
    waiting.set(request.id, { resolve, reject });
    child.channel?.ref();
    child.send(request, (error) => {
      if (error) reject(error);
    });
  });
}
