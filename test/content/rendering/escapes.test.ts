// Sandbox escapes, hostile work and hostile headers, through the worker that fills sends.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CompiledTemplate, FillValues } from '../../../src/content/rendering/compiled.ts';
import { fillTemplate } from '../../../src/content/rendering/fill.ts';
import { ValidationError } from '../../../src/platform/errors.ts';
import { longestStallMs } from '../../support/work-time.ts';
import {
  costlyPayloads,
  filePayloads,
  hostileData,
  hostilePartials,
  prototypePayloads,
} from './escape-corpus.ts';
import { emptyTemplate, type FillApp, fillApp, someValues } from './fill-fixture.ts';

const payloads = [...prototypePayloads, ...filePayloads, ...costlyPayloads];
let filler: FillApp;

beforeAll(() => {
  filler = fillApp();
});
afterAll(() => filler.close());

/** Returns the filled HTML, or the reason of the refusal. */
async function outcomeOf(
  key: string,
  template: Partial<CompiledTemplate>,
  values: Partial<FillValues> = {},
): Promise<string> {
  const compiled = { ...emptyTemplate, partials: hostilePartials, ...template };
  const all = { ...someValues, data: hostileData, ...values };
  try {
    const filled = await fillTemplate(filler.app, key, { key, compiled }, all, {
      dataField: 'data',
    });
    return filled.html ?? filled.subject;
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return Object.values(error.fieldErrors ?? {})[0]?.[0] ?? '';
  }
}

it('has 40 payloads at least', () => {
  expect(payloads.length).toBeGreaterThanOrEqual(40);
});

describe('a template', () => {
  it.each(payloads)('fills or refuses %s, without a stall', async (name, html, expected) => {
    const work = outcomeOf(name, { html });
    expect(await longestStallMs(work)).toBeLessThan(50);
    const outcome = await work;
    if (typeof expected === 'string') expect(outcome).toBe(expected);
    else expect(outcome).toMatch(expected);
    expect(await outcomeOf('next', { html: '{{ n }}' })).toBe('5');
  });

  it('leaves the prototypes of the worker as they are', async () => {
    const html = '[{{ o.polluted }}{{ polluted }}{{ brand.polluted }}{{ o.x }}]';
    expect(await outcomeOf('after', { html })).toBe('[own]');
  });
});

describe('the deadline', () => {
  /** A contract whose check doubles with each reference. */
  const defs = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => {
      const next = { $ref: `#/$defs/d${index + 1}` };
      return [`d${index}`, { allOf: [next, next] }];
    }),
  );
  const contract = { $ref: '#/$defs/d0', $defs: { ...defs, d40: {} } };

  it('refuses the fill that is stuck, and gives the others to another worker', async () => {
    const [stuck, next] = await Promise.all([
      outcomeOf('stuck', { html: 'x', contract }),
      outcomeOf('other', { html: '{{ n }}' }),
    ]);
    expect(stuck).toMatch(/^filling the template took too long/);
    expect(next).toBe('5');
  });
});

describe('headers', () => {
  const evil = 'x\r\nBcc: victim@evil.test';
  const brand = someValues.brand;
  if (!brand) throw new Error('the fixture has a brand');
  const contact = { firstName: evil, tags: [evil] };

  it.each<[string, string, Partial<FillValues>]>([
    ['data', '{{ a }}', { data: { a: evil } }],
    ['nested data', '{{ a.b[0] }}', { data: { a: { b: [evil] } } }],
    ['a loop', '{% for i in a %}{{ i }}{% endfor %}', { data: { a: [evil] } }],
    ['a joined list', "{{ a | join: ',' }}", { data: { a: [evil] } }],
    ['a list', '{{ a }}', { data: { a: [evil] } }],
    ['a capture', '{% capture c %}{{ a }}{% endcapture %}{{ c }}', { data: { a: evil } }],
    ['an assign', '{% assign c = a %}{{ c | append: "" }}', { data: { a: evil } }],
    ['a decoded value', '{{ a | url_decode }}', { data: { a: encodeURIComponent(evil) } }],
    ['a partial', "{% render 'show', v: a %}", { data: { a: evil } }],
    ['the contact', '{{ contact.firstName }}', { contact }],
    ['tags of the contact', '{{ contact.tags | first }}', { contact }],
    ['the name of the brand', '{{ brand.name }}', { brand: { ...brand, name: evil } }],
    ['the sender', '{{ sender.name }}', { sender: { email: 'a@b.test', name: evil } }],
    ['NUL', '{{ a }}', { data: { a: 'x\0y' } }],
    ['a literal', '{{ "a\\nBcc: x" }}', {}],
    ['the footer', '{% brand_footer %}', {}],
  ])('take no line break from %s', async (name, subject, values) => {
    const outcome = await outcomeOf(
      `subject ${name}`,
      { subject, textPartials: hostilePartials },
      values,
    );
    expect(outcome).toMatch(/has a line break or a NUL, which a subject cannot have$/);
  });
});
