// `/llms.txt` (llmstxt.org): the API for language models, as Markdown with a link for each
// operation.
import { areaPath } from './docs.ts';
import { operationsOn } from './docs-sections.ts';
import type { OpenApiDocument } from './openapi.ts';

export function llmsText(document: OpenApiDocument): string {
  const { info, servers, tags } = document;
  const base = (servers[0]?.url ?? '').replace(/\/$/, '');
  const areas = tags.map(({ name, description = '' }) => {
    const lines = operationsOn(document, name).map(
      ({ method, path, operation: { operationId, summary } }) => {
        const link = `${base}${areaPath(name)}#${operationId}`;
        return `- [${method.toUpperCase()} ${path}](${link}): ${summary}`;
      },
    );
    return [`## ${name}`, description, lines.join('\n')].filter((part) => part !== '').join('\n\n');
  });
  const files = [
    `- [OpenAPI document](${base}/v1/openapi.json): every field, with its description`,
    `- [Reference](${base}/docs): the same for people, with a page for each area`,
    `- [Events](${base}${areaPath('events')}): every kind of event, with its payload`,
    `- [Errors](${base}${areaPath('errors')}): every error object`,
  ].join('\n');
  const parts = [`# ${info.title}`, `> ${info.summary}`, info.description, files, ...areas];
  return `${parts.join('\n\n')}\n`;
}
