// `svc openapi`. The document is made from the routes by daemon/http/openapi/openapi.ts.
import { BaseCommand } from './base/command.ts';
import { writeLine } from './base/output/output.ts';
import { readStoreConfig } from './base/session.ts';

export default class OpenApi extends BaseCommand {
  static override summary = 'Print the OpenAPI 3.1 document of the HTTP API';

  static override description =
    'The daemon serves the same at /v1/openapi.json, and a page to read at /docs.';

  static override examples = [
    { description: 'Generate a client', command: 'svc openapi > openapi.json' },
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(OpenApi);
    const { config } = await readStoreConfig(flags, { usesStore: false });
    const { routes } = await import('../daemon/http/routes.ts');
    const { eventKinds } = await import('../daemon/http/event-kinds.ts');
    const { openApiDocument } = await import('../daemon/http/openapi/openapi.ts');
    const { host, port, publicUrl } = config.http;
    const document = openApiDocument(routes, publicUrl ?? `http://${host}:${port}`, eventKinds);
    writeLine(JSON.stringify(document, null, 2));
  }
}
