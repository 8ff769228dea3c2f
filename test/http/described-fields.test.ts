// Every field of the OpenAPI document has a description: parameters, bodies, answers and events.
// Readers of the reference and of generated types see it beside the name.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { eventKinds } from '../../daemon/http/event-kinds.ts';
import { type OpenApiDocument, openApiDocument } from '../../daemon/http/openapi/openapi.ts';
import type { JsonSchema } from '../../daemon/http/openapi/openapi-schemas.ts';
import { routes } from '../../daemon/http/routes.ts';
import { echo } from './http-service.ts';

interface Field {
  /** Place in the document: `Message.from.email`, `listMessages(query page)`. */
  place: string;
  name: string;
  description: string | undefined;
}

const list = (value: unknown) => (Array.isArray(value) ? (value as JsonSchema[]) : []);
const map = (value: unknown) => Object.entries((value ?? {}) as Record<string, JsonSchema>);

/** Returns every field of a document, also within lists, maps and alternatives. */
function fieldsOf({ components, paths, webhooks }: OpenApiDocument): Field[] {
  const found: Field[] = [];

  /** Returns the words of a schema, or of the component that it refers to. */
  function wordsOf({ description, $ref }: JsonSchema): string | undefined {
    const name = String($ref).split('/').at(-1) ?? '';
    const words = description ?? ($ref === undefined ? '' : components.schemas[name]?.description);
    return typeof words === 'string' && words.trim() !== '' ? words : undefined;
  }

  function walk(schema: JsonSchema, place: string): void {
    for (const [name, field] of map(schema.properties)) {
      found.push({ place: `${place}.${name}`, name, description: wordsOf(field) });
      walk(field, `${place}.${name}`);
    }
    const { items, additionalProperties, anyOf, oneOf, allOf } = schema;
    for (const inner of [items, additionalProperties]) {
      if (typeof inner === 'object' && inner !== null) walk(inner as JsonSchema, `${place}[]`);
    }
    for (const option of [...list(anyOf), ...list(oneOf), ...list(allOf)]) walk(option, place);
  }

  for (const [name, schema] of Object.entries(components.schemas)) walk(schema, name);
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    const { operationId, parameters = [], requestBody, responses } = operation;
    for (const { name, in: where, description } of parameters) {
      found.push({ place: `${operationId}(${where} ${name})`, name, description });
    }
    const contents = [requestBody, ...Object.values(responses)].map((part) => part?.content ?? {});
    for (const { schema } of contents.flatMap((content) => Object.values(content))) {
      walk(schema, operationId);
    }
  }
  for (const [kind, { post }] of Object.entries(webhooks)) {
    walk(post.requestBody.content['application/json'].schema, `event ${kind}`);
  }
  return found;
}

const document = openApiDocument(routes, 'https://mail.acme.test', eventKinds);
const fields = fieldsOf(document);

/** Returns letters alone: `isDefault` and `Is default` are equal. */
const letters = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

describe('the fields of the document', () => {
  it('have a description each', () => {
    expect(fields.length).toBeGreaterThan(3_000);
    const missing = fields.filter(({ description }) => description === undefined);
    expect(missing.map(({ place }) => place)).toEqual([]);
  });

  it('stand in named schemas with a description each', () => {
    const schemas = Object.entries(document.components.schemas);
    const bare = schemas.filter(([, { description }]) => typeof description !== 'string');
    expect(bare.map(([name]) => name)).toEqual([]);
  });

  it('have a description that says more than the name', () => {
    const repeating = fields.filter(
      ({ name, description = '' }) => letters(description) === letters(name),
    );
    expect([...new Set(repeating.map(({ place }) => place))]).toEqual([]);
  });

  it('are found in a body, in lists and in alternatives', () => {
    const body = z.object({
      items: z.array(z.object({ bare: z.string() })).describe('Items'),
      either: z.union([z.object({ first: z.string() }), z.null()]).describe('Either'),
    });
    const found = fieldsOf(openApiDocument([{ ...echo, body }], 'http://x'));
    const missing = found.filter(({ description }) => description === undefined);
    expect(missing.map(({ place }) => place)).toEqual(
      expect.arrayContaining(['echoThing.items[].bare', 'echoThing.either.first']),
    );
  });
});
