// A folder for the PATH of a shell whose `svc` runs in the process that runs the commands of all
// tests (cli-host.ts): a page of commands then costs the commands alone, without a hundred starts.
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type CliWorkspace, repository } from './cli.ts';

export interface TypedSvc {
  /** Variables that the shell needs beside the PATH. */
  readonly env: Readonly<Record<string, string>>;
  close(): void;
}

/** Puts a folder `bin` in the directory of `cli`, as a clone has it; `cli` runs its commands. */
export async function typedSvc(cli: CliWorkspace): Promise<TypedSvc> {
  const folder = join(cli.directory, 'bin');
  mkdirSync(folder);
  copyFileSync(join(repository, 'bin/sendmail'), join(folder, 'sendmail'));
  const script = join(import.meta.dirname, 'svc-typed.mjs');
  writeFileSync(join(folder, 'svc'), `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`);
  chmodSync(join(folder, 'svc'), 0o700);
  const server = createServer({ allowHalfOpen: true }, async (socket) => {
    const { args, env, input } = JSON.parse(await text(socket));
    socket.end(JSON.stringify(await cli.run(args, { env, input })));
  });
  const path = join(folder, 'socket');
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return { env: { SVC_TYPED_SOCKET: path }, close: () => void server.close() };
}
