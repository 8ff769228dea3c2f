// Clients that orval, openapi-typescript-codegen and hey-api make from the OpenAPI document
// compile. Slow: each generator starts a process that reads a document of 0.8 MB.
import { afterEach, expect, it } from 'vitest';
import { type GeneratorFolder, generatorFolder } from '../support/generated-code.ts';

let folder: GeneratorFolder | undefined;

afterEach(() => {
  folder?.remove();
  folder = undefined;
});

const client = (name: string, script: string, ...args: string[]) => ({ name, script, args });

it.each([
  client(
    'orval',
    'orval/dist/bin/orval.mjs',
    ...['--input=openapi.json', '--output=orval/client.ts', '--client=fetch'],
  ),
  client(
    'openapi-typescript-codegen',
    'openapi-typescript-codegen/bin/index.js',
    ...['--input', 'openapi.json', '--output', 'codegen'],
  ),
  client('hey-api', '@hey-api/openapi-ts/bin/run.js', '-i', 'openapi.json', '-o', 'hey-api'),
])('$name makes a client that compiles', async ({ script, args }) => {
  folder = generatorFolder();
  await folder.generate(script, ...args);
  expect(await folder.compile()).toBe('');
});
