// Clients that generators of npm make from the OpenAPI document, and the check of their types.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventKinds } from '../../daemon/http/event-kinds.ts';
import { openApiDocument } from '../../daemon/http/openapi/openapi.ts';
import { routes } from '../../daemon/http/routes.ts';
import { repository } from './cli.ts';

const run = promisify(execFile);

/** Options of a strict application. */
const compilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  target: 'es2022',
  module: 'esnext',
  moduleResolution: 'bundler',
  lib: ['es2023', 'dom', 'dom.iterable'],
  types: [],
};

/** A folder with the document in `openapi.json`. */
export interface GeneratorFolder {
  /** Runs a script of a package in the folder. @throws Error with its output if it fails */
  generate: (script: string, ...args: string[]) => Promise<void>;
  /** Returns what the compiler says of all TypeScript in the folder; empty if it compiles. */
  compile: () => Promise<string>;
  write: (name: string, text: string) => void;
  read: (name: string) => string;
  remove: () => void;
}

/** Makes a folder for generators. The caller removes it. */
export function generatorFolder(): GeneratorFolder {
  const cwd = mkdtempSync(join(tmpdir(), 'svc-generators-'));
  const env = { PATH: process.env.PATH, HOME: cwd, CI: 'true', DO_NOT_TRACK: '1' };
  const write = (name: string, text: string) => writeFileSync(join(cwd, name), text);
  const document = openApiDocument(routes, 'https://mail.acme.test', eventKinds);
  write('openapi.json', JSON.stringify(document));
  write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['**/*.ts'] }));
  return {
    write,
    read: (name) => readFileSync(join(cwd, name), 'utf8'),
    async generate(script, ...args) {
      const path = join(repository, 'node_modules', script);
      await run(process.execPath, [path, ...args], { cwd, env });
    },
    async compile() {
      const compiler = join(repository, 'node_modules/typescript-7/bin/tsc');
      const done = run(process.execPath, [compiler, '-p', '.'], { cwd, env });
      return done.then(
        ({ stdout }) => stdout,
        ({ stdout }: { stdout: string }) => stdout,
      );
    },
    remove: () => rmSync(cwd, { recursive: true, force: true }),
  };
}
