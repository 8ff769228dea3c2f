// The process that keeps root's account for a command that has left it (file-broker.ts). It runs
// only operations of file-operations.ts on paths that the command line names.
import { resolve, sep } from 'node:path';
import { type FileOperations, fileOperations } from './file-operations.ts';

export interface BrokerRequest {
  id: number;
  operation: keyof FileOperations;
  args: unknown[];
}

export interface BrokerAnswer {
  id: number;
  result?: unknown;
  error?: { message: string; code?: string; syscall?: string };
}

const allowed = process.argv.slice(2);

/** Tells whether the command line names the path, or a folder above it. */
function isNamed(path: string): boolean {
  return allowed.some((named) => path === named || path.startsWith(`${named}${sep}`));
}

async function run({ id, operation, args }: BrokerRequest): Promise<BrokerAnswer> {
  try {
    const path = String(args[0]);
    if (resolve(path) !== path || !isNamed(path)) {
      throw new Error(`${path} is not named on the command line`);
    }
    const work = fileOperations[operation] as (...all: unknown[]) => Promise<unknown>;
    return { id, result: await work(...args) };
  } catch (error) {
    const { message, code, syscall } = error as NodeJS.ErrnoException;
    return { id, error: { message, ...(code && { code }), ...(syscall && { syscall }) } };
  }
}

// Ignores Ctrl-C, which reaches the whole process group: the command decides when to end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('message', (request: BrokerRequest) => {
  void run(request).then((answer) => process.send?.(answer));
});
process.on('disconnect', () => process.exit());
