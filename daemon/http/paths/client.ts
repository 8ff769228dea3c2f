// Serves the client (client/) as two files for programs without npm: `/client.js`, its modules
// joined into a single module, and `/client.d.ts`, the types.
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { Packed } from '../openapi/packed.ts';
import type { Workload } from '../workload.ts';

/** Modules of the client, each after the modules that it imports. */
const modules = ['http.js', 'expect.js', 'stream.js', 'webhooks.js', 'operations.js', 'index.js'];
const types = ['core.d.ts', 'index.d.ts'];

/** Returns the files of the client as a single text, without the imports at their heads. */
function joined(names: readonly string[]): string {
  const texts = names.map((name) => {
    const file = new URL(`../../../client/${name}`, import.meta.url);
    const lines = readFileSync(file, 'utf8').split('\n');
    const lastImport = lines.findLastIndex((line) => line.includes(" from './"));
    return lines.slice(lastImport + 1).join('\n');
  });
  return texts.join('\n');
}

/** Returns the text of `/client.js`. */
function clientModule(): string {
  const inner = joined(modules).replaceAll(/^export (?=class|const|function|async function)/gm, '');
  return `${inner}\nexport { Svc, SvcError, verifyWebhook };\n`;
}

/** Returns the text of `/client.d.ts`. */
function clientTypes(): string {
  return joined(types);
}

/** Mounts `GET /client.js` and `GET /client.d.ts`, which need no key. */
export function mountClient(server: FastifyInstance, workload: Workload): void {
  const mount = (path: string, headers: Record<string, string>, read: () => string) => {
    let content: Packed | undefined;
    server.get(path, async (request, reply) => {
      const answer = await workload.begin(() => {
        content ??= new Packed(read());
        return content.answerTo(request);
      });
      return reply.headers({ ...answer.headers, ...headers }).send(answer.bytes);
    });
  };
  // Deno reads the types that this header names.
  const typesHeader = { 'x-typescript-types': './client.d.ts' };
  const script = { 'content-type': 'text/javascript; charset=utf-8', ...typesHeader };
  mount('/client.js', script, clientModule);
  const typed = { 'content-type': 'application/typescript; charset=utf-8' };
  mount('/client.d.ts', typed, clientTypes);
}
