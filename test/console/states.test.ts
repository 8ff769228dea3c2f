// Every state that a route can answer has a word, a sign and a tone of its own in the console, and
// the parts that all pages share keep their promises.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { html, renderDocument } from '../../daemon/console/html.ts';
import { state, states } from '../../daemon/console/states.ts';
import { routes } from '../../daemon/http/routes.ts';

/** Names of fields whose values are drawn as states. */
const stateFields = /^(?:status|state|outcome|verdict|sslStatus|sendingStatus|providerLifecycle)$/;

interface Schema {
  enum?: unknown[];
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  allOf?: Schema[];
  additionalProperties?: Schema | boolean;
  $defs?: Record<string, Schema>;
}

/** Collects the values of enums in fields with these names. */
function collect(schema: Schema, name: string | null, into: Map<string, Set<string>>): void {
  if (name !== null && stateFields.test(name)) {
    const known = into.get(name) ?? new Set();
    for (const value of schema.enum ?? []) if (typeof value === 'string') known.add(value);
    into.set(name, known);
  }
  for (const [field, part] of Object.entries(schema.properties ?? {})) collect(part, field, into);
  for (const part of [...(schema.anyOf ?? []), ...(schema.allOf ?? [])]) collect(part, name, into);
  for (const part of Object.values(schema.$defs ?? {})) collect(part, null, into);
  if (schema.items) collect(schema.items, name, into);
  if (typeof schema.additionalProperties === 'object') {
    collect(schema.additionalProperties, name, into);
  }
}

function statesOfRoutes(): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const { output } of routes) {
    const schema = z.toJSONSchema(output, { io: 'input', unrepresentable: 'any' });
    collect(schema as Schema, null, found);
  }
  return found;
}

describe('states', () => {
  it('of all routes have a word in the map', () => {
    const found = statesOfRoutes();
    expect(found.get('status')?.size).toBeGreaterThan(30);
    const missing = [...found].flatMap(([field, values]) =>
      [...values]
        .filter((value) => states[value] === undefined)
        .map((value) => `${field} ${value}`),
    );
    expect(missing).toEqual([]);
  });

  it('are drawn with tone, word and the word of the API', () => {
    expect(renderDocument(html`${state('deferred')}`)).toContain(
      '<span class="pill warn" title="deferred">Trying again</span>',
    );
  });
});

describe('a part of a page', () => {
  it('keeps words apart that stand on two lines of the source', () => {
    const [one, two] = ['new', 'changed'];
    const drawn = renderDocument(html`<p>3 ${one},
      4 ${two},
      ${5} kept</p>`);
    expect(drawn).toContain('3 new, 4 changed, 5 kept');
  });
});
