// A folder for the PATH of a shell. Its `svc` runs in the process that runs the commands of all
// tests (cli-host.ts), so that a page of commands needs no hundred starts. `svc` is a script that
// writes arguments, environment and input to files, and sends a request by curl: this takes a third
// of the start of Node.
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type CliWorkspace, repository } from './cli.ts';

export interface TypedSvc {
  /** Variables that the shell needs besides the PATH. */
  readonly env: Readonly<Record<string, string>>;
  close(): void;
}

const script = `#!/bin/sh
call=$SVC_TYPED/$$
printf '%s\\0' "$@" > "$call.args"
env -0 > "$call.env"
cat > "$call.input"
code=$(curl -sS --unix-socket "$SVC_TYPED/socket" "http://svc/$$") || code=1
cat "$call.stdout"
if [ -s "$call.stderr" ]; then cat "$call.stderr" >&2; fi
exit "$code"
`;

/** Adds a folder `bin` to the directory of `cli`, as in a clone. `cli` runs its commands. */
export async function typedSvc(cli: CliWorkspace): Promise<TypedSvc> {
  const folder = join(cli.directory, 'bin');
  const calls = join(folder, 'calls');
  mkdirSync(calls, { recursive: true });
  copyFileSync(join(repository, 'bin/sendmail'), join(folder, 'sendmail'));
  writeFileSync(join(folder, 'svc'), script);
  chmodSync(join(folder, 'svc'), 0o700);
  const run = async (call: string) => {
    const listOf = (kind: string) =>
      readFileSync(join(calls, `${call}.${kind}`), 'utf8')
        .split('\0')
        .slice(0, -1);
    const pairs = listOf('env').map((text) => {
      const at = text.indexOf('=');
      return [text.slice(0, at), text.slice(at + 1)] as const;
    });
    const { SVC_TYPED: _, ...env } = Object.fromEntries(pairs);
    const input = readFileSync(join(calls, `${call}.input`));
    const { code, stdout, stderr } = await cli.run(listOf('args'), { env, input });
    writeFileSync(join(calls, `${call}.stdout`), stdout);
    writeFileSync(join(calls, `${call}.stderr`), stderr);
    return String(code ?? 1);
  };
  const server = createServer((request, response) => {
    void run((request.url ?? '').slice(1)).then((code) => response.end(code));
  });
  await new Promise<void>((resolve) => server.listen(join(calls, 'socket'), resolve));
  return { env: { SVC_TYPED: calls }, close: () => void server.close() };
}
