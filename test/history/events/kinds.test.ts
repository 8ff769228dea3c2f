// The catalogue of events: complete, each kind with a sample that fits its schema, in the reference
// too. The kinds that are published are read from the code: the list of the others shrinks with
// each area.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { eventKinds } from '../../../daemon/http/event-kinds.ts';
import { openApiDocument } from '../../../daemon/http/openapi/openapi.ts';
import { routes } from '../../../daemon/http/routes.ts';
import { eventTypes, stepOfType } from '../../../src/history/events/names.ts';
import type { PresentedKind } from '../../../src/history/events/schema.ts';
import { repository } from '../../support/cli.ts';
import { eachApi } from '../../support/each-app.ts';

/** Kinds of built areas that no code publishes yet. */
const awaited = ['message.unsubscribed'];

describe('the catalogue of events', () => {
  it('has every kind once, in the order of src/history/events/names.ts', () => {
    expect(eventKinds.map(({ type }) => type)).toEqual([...eventTypes]);
  });

  it.each(eventKinds.map((kind) => [kind.type, kind] as const))(
    'has a sample of %s that fits its schema unchanged',
    (_type, { schema, sample, summary }) => {
      expect(schema.parse(sample)).toEqual(sample);
      expect(summary).toMatch(/^\S.{5,}$/);
    },
  );

  it('is in the OpenAPI document, with examples that fit', () => {
    const document = openApiDocument(routes, '/', eventKinds);
    expect(Object.keys(document.webhooks)).toEqual([...eventTypes]);
    const ajv = new Ajv2020({ strict: false });
    formats.default(ajv);
    ajv.addSchema({ $id: 'openapi', ...document });
    for (const type of eventTypes) {
      const { content } = document.webhooks[type]?.post.requestBody ?? {};
      const path = `webhooks/${type}/post/requestBody/content/application~1json/schema`;
      const fits = ajv.getSchema(`openapi#/${path}`);
      expect([type, fits?.(content?.['application/json'].example)]).toEqual([type, true]);
    }
  });
});

describe('the listed kinds of events', () => {
  const { api } = eachApi();

  it('have self-contained schemas that accept their samples', async () => {
    const { body } = await api.get<{ items: PresentedKind[] }>('/v1/events/kinds');
    expect(body.items.map(({ type }) => type)).toEqual([...eventTypes]);
    for (const { type, schema, sample } of body.items) {
      const ajv = new Ajv2020({ strict: false });
      formats.default(ajv);
      expect([type, ajv.validate(schema, sample)]).toEqual([type, true]);
    }
  });
});

describe('the code', () => {
  const codeIn = (rooms: string) =>
    globSync(`src/${rooms}/**/*.ts`, { cwd: repository })
      .filter((path) => !/src\/history\/events\/|(events|kinds|schema)\.ts$/.test(path))
      .map((path) => readFileSync(join(repository, path), 'utf8'))
      .join('\n');
  const code = codeIn('*');
  const mail = codeIn('{outbound/{sending,queue,reports,tracking},inbox/receiving}');
  /** A kind of a resource is published by its constant, a step of a message by its word. */
  const isPublished = (type: string) => {
    const step = stepOfType(type);
    if (step !== null) return mail.includes(`'${step}'`);
    const words = type.split('.');
    const name = words.map((word, at) => (at ? word[0]?.toUpperCase() + word.slice(1) : word));
    return new RegExp(`\\b${name.join('')}\\b`).test(code);
  };

  it('publishes every listed kind except those awaited', () => {
    expect(eventTypes.filter((type) => !isPublished(type))).toEqual(awaited);
  });
});
