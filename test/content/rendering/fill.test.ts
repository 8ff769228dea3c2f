// Filling of templates as sends call it: bad data first, then the places of values, then the
// worker. Slow: three workers end by their deadline of 3 seconds each.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  CompiledTemplate,
  Filled,
  FillValues,
} from '../../../src/content/rendering/compiled.ts';
import { fillTemplate } from '../../../src/content/rendering/fill.ts';
import { CapacityError, ValidationError } from '../../../src/platform/errors.ts';
import { systemClock } from '../../../src/platform/runtime/clock.ts';
import { coreMs, longestStallMs, startWork } from '../../support/work-time.ts';
import { emptyTemplate, type FillApp, fillApp, someValues } from './fill-fixture.ts';

const run = promisify(execFile);
/** Shortens the deadline of a fill. That of the start of a worker stays. */
const shorter: typeof systemClock.after = (ms, work) =>
  systemClock.after(ms > 10_000 ? ms : ms / 10, work);
const dataField = 'email.templateData';
let filler: FillApp;
let keys = 0;

beforeAll(() => {
  filler = fillApp();
});
afterAll(() => filler.close());

function fill(
  template: Partial<CompiledTemplate>,
  values: Partial<FillValues> = {},
  organizationId = 'org_1',
): Promise<Filled> {
  keys += 1;
  return fillTemplate(
    filler.app,
    organizationId,
    { key: `version-${keys}`, compiled: { ...emptyTemplate, ...template } },
    { ...someValues, ...values },
    { dataField },
  );
}

async function refusal(work: Promise<unknown>): Promise<Record<string, string[]>> {
  const error = await work.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(error instanceof ValidationError)) throw error ?? new Error('the fill was accepted');
  return error.fieldErrors ?? {};
}

const contract = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  required: ['user', 'total'],
  additionalProperties: false,
  properties: {
    user: {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string', pattern: '^[A-Z]' }, email: { format: 'email' } },
    },
    total: { type: 'number' },
  },
};

describe('the data of a fill', () => {
  it('is refused by field where contract.json forbids it', async () => {
    const data = { user: { email: 'no' }, total: '1', extra: true };
    expect(await refusal(fill({ contract }, { data }))).toEqual({
      'email.templateData.user.name': ['is missing'],
      'email.templateData.user.email': ['must match format "email"'],
      'email.templateData.total': ['must be number'],
      'email.templateData.extra': ['is no field of contract.json'],
    });
  });

  it('names 20 fields at most', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `n${index}`);
    const fields = await refusal(fill({ contract: { required: names } }));
    expect(Object.keys(fields)).toHaveLength(20);
  });

  it('is refused over 256 KB', async () => {
    const fields = await refusal(fill({}, { data: { text: 'x'.repeat(400_000) } }));
    expect(fields).toEqual({ [dataField]: ['has at most 256 KB as JSON'] });
  });

  it.each([33, 20_000])('is refused at a depth of %i', async (depth) => {
    const data = JSON.parse(`{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`);
    const [message] = (await refusal(fill({}, { data })))[dataField] ?? [];
    expect(message).toMatch(/nested (?:too|over 32) deep/);
  });

  it.each(['contact', 'brand', 'sender', 'unsubscribe_url', 'view_url', 'message'])(
    'is refused with the name %s',
    async (name) => {
      const fields = await refusal(fill({}, { data: { [name]: 1 } }));
      expect(fields).toEqual({
        [`${dataField}.${name}`]: ['is a name that every template has: rename it'],
      });
    },
  );

  it('cannot reach the prototype of an object', async () => {
    const data = JSON.parse('{"__proto__":{"admin":"yes"},"constructor":{"name":"mine"},"o":{}}');
    const html = '[{{ admin }}{{ o.admin }}{{ o.constructor }}{{ o.toString }}]';
    expect((await fill({ html }, { data })).html).toBe('[]');
  });
});

describe('a subject', () => {
  it.each(['\r', '\n', '\0', 'x\r\nBcc: evil@evil.test'])('refuses %j of a value', async (name) => {
    const data = { user: { name } };
    expect(await refusal(fill({ subject: 'Hi {{ user.name }}' }, { data }))).toEqual({
      'email.templateData.user.name': ['has a line break or a NUL, which a subject cannot have'],
    });
  });

  it('refuses a line break of its own', async () => {
    const fields = await refusal(fill({ subject: 'a\nb' }));
    expect(fields[dataField]).toEqual([
      'the subject has a line break or a NUL, which a subject cannot have',
    ]);
  });

  it('names the value of the brand that breaks the line', async () => {
    const brand = { ...someValues.brand, name: 'Acme\r\nBcc: x@evil.test' } as FillValues['brand'];
    const fields = await refusal(fill({ subject: '{{ brand.name }}' }, { brand }));
    expect(fields[dataField]).toEqual([
      'brand.name has a line break or a NUL, which a subject cannot have',
    ]);
  });

  it('is not escaped', async () => {
    const { subject } = await fill({ subject: '{{ n }}' }, { data: { n: `Tom & "Jerry's" <x>` } });
    expect(subject).toBe(`Tom & "Jerry's" <x>`);
  });
});

describe('a filled template', () => {
  it('has its values and those of the service in every text', async () => {
    const filled = await fill(
      {
        subject: 'Order {{ id }}',
        preheader: '{{ items.size }}\n items',
        html: "<p>{% for i in items %}{% render 'row', item: i %}{% endfor %}</p>{{ sender.name }}",
        text: "{% for i in items %}{% render 'row', item: i %}{% endfor %}{{ message.id }}",
        partials: { row: '<b>{{ item }}</b>' },
        textPartials: { row: '* {{ item }}\n' },
      },
      { data: { id: 7, items: ['a & b', 'c'] } },
    );
    expect(filled).toEqual({
      subject: 'Order 7',
      preheader: '2 items',
      html: '<p><b>a &amp; b</b><b>c</b></p>Acme News',
      text: '* a & b\n* c\nmsg_1',
      warnings: [],
    });
  });

  it('warns of variables that are missing', async () => {
    const { html, warnings } = await fill({
      html: '[{{ user.name }}{{ x | default: "y" }}{% if z %}{% endif %}{% for a in b %}{% endfor %}]',
    });
    expect(html).toBe('[y]');
    expect(warnings.map(({ message }) => message)).toEqual([
      'user.name is missing: it was left empty',
      'b is missing: it was left empty',
    ]);
  });

  it('warns of a contact, a group and a page that the message does not have', async () => {
    const html = '{{ contact.name }}{{ unsubscribe_url }}{{ view_url }}';
    const { warnings } = await fill({ html }, { unsubscribeUrl: null });
    expect(warnings.map(({ code }) => code)).toEqual([
      'contact-missing',
      'unsubscribe-url-missing',
      'view-url-missing',
    ]);
  });

  it('does not warn of missing variables if contract.json allows them', async () => {
    const { warnings } = await fill({ html: '{{ user.name }}', contract: { type: 'object' } });
    expect(warnings).toEqual([]);
  });

  it('gives partials their parameters and the values of the service alone', async () => {
    const { html } = await fill(
      {
        html: "{% render 'p', a: b %}",
        partials: { p: '{{ a }}{{ b }}{{ sender.email }}' },
      },
      { data: { b: 'x' } },
    );
    expect(html).toBe('xnews@acme.test');
  });

  it('escapes captured values once', async () => {
    const { html } = await fill(
      { html: '{% capture c %}<b>{{ n }}</b>{% endcapture %}{{ c }}|{{ c | size }}' },
      { data: { n: "O'Brien" } },
    );
    expect(html).toBe('<b>O&#39;Brien</b>|14');
  });

  it('has the text of raw HTML in its text part', async () => {
    const { html, text } = await fill(
      { html: '{{ b | raw }}', text: '{{ b | raw }}', allowRawHtml: true },
      { data: { b: '<p>One <b>two</b> &amp; three</p>' } },
    );
    expect(html).toBe('<p>One <b>two</b> &amp; three</p>');
    expect(text).toBe('One two & three');
  });
});

describe('the footer of a brand', () => {
  const footer =
    'Acme &amp; Sons<br>1 &lt;Main&gt; Street, 10115 Berlin, Germany<br>' +
    '<a href="https://acme.test/?a=1&amp;b=2" style="color:#6b7280;">News &#34;daily&#34;</a><br>' +
    '<a href="https://svc.test/u/recipient" style="color:#6b7280;">Unsubscribe</a></div>';

  it('stands where the template places it, once', async () => {
    const { html } = await fill(
      { html: '<body>{% brand_footer %}<i></i></body>' },
      { footer: true },
    );
    expect(html?.split('Acme &amp; Sons')).toHaveLength(2);
    expect(html).toContain(`${footer}<i></i></body>`);
  });

  it('stands at the end of the body of a template that does not place it', async () => {
    const template = { html: '<body>x<!-- </body> --></body>', text: 'x' };
    const { html, text } = await fill(template, { footer: true });
    expect(html).toMatch(/^<body>x<!-- <\/body> --><div/);
    expect(html?.endsWith(`${footer}</body>`)).toBe(true);
    expect(text).toBe(
      'x\n\nAcme & Sons\n1 <Main> Street, 10115 Berlin, Germany\n' +
        'News "daily": https://acme.test/?a=1&b=2\nUnsubscribe: https://svc.test/u/recipient\n',
    );
  });
});

describe('the worker of fills', () => {
  const endless = '{% for a in (1..100000) %}{% for b in (1..100000) %}{% endfor %}{% endfor %}';

  it('refuses loops of 10⁸ passes', async () => {
    expect(await refusal(fill({ html: endless }))).toEqual({
      [dataField]: [expect.stringMatching(/^the template (?:takes too many steps|takes too long)/)],
    });
  });

  it('fills the next template after a refused one', async () => {
    const [refused, filled] = await Promise.allSettled([
      fill({ html: endless }),
      fill({ html: '{{ a }}' }, { data: { a: 1 } }),
    ]);
    expect(refused.status).toBe('rejected');
    expect(filled).toMatchObject({ value: { html: '1' } });
  });

  it('keeps a template by its key', async () => {
    const one = (html: string) =>
      fillTemplate(
        filler.app,
        'org_1',
        { key: 'same', compiled: { ...emptyTemplate, html } },
        someValues,
        { dataField },
      );
    expect((await one('first')).html).toBe('first');
    expect((await one('second')).html).toBe('first');
  });

  it('fills 40 mails of 4 MB at once without a stall as long as the work on three', async () => {
    const long = `{% for i in (1..1900) %}${'x'.repeat(1000)}{% endfor %}`;
    const compiled = { ...emptyTemplate, html: `\u2013${long}`, text: long };
    const work = Array.from({ length: 40 }, () =>
      fillTemplate(filler.app, 'org_1', { key: 'long', compiled }, someValues, { dataField }),
    );
    const started = startWork();
    const longest = await longestStallMs(Promise.all(work));
    // Beside the work on one mail, so that a slow machine has no influence: 9 to 13 ms on a quiet
    // one.
    expect(longest).toBeLessThan((3 * coreMs(started.usage)) / work.length);
    for (const { html } of await Promise.all(work)) expect(html).toHaveLength(1_900_001);
  });

  it('refuses an organization beyond its share with 503', async () => {
    const many = Array.from({ length: 1200 }, () => fill({ html: 'x' }));
    const small = fill({ html: 'y' }, {}, 'org_2');
    const results = await Promise.allSettled(many);
    const refused = results.filter((one) => one.status === 'rejected');
    expect(refused.length).toBeGreaterThan(200);
    expect(refused.every(({ reason }) => reason instanceof CapacityError)).toBe(true);
    expect((await small).html).toBe('y');
  });

  it('does not begin queued fills of an organization that has ended three workers', async () => {
    const shortDeadlines = { ...systemClock, after: shorter };
    const hasty = fillApp(shortDeadlines);
    const branches = Array.from({ length: 3 }, () => ({ $ref: '#/$defs/a' }));
    const slow = {
      $ref: '#/$defs/a',
      $defs: {
        a: { additionalProperties: { anyOf: branches }, maxProperties: 1, minProperties: 1 },
      },
    };
    const data = JSON.parse(`${'{"a":'.repeat(24)}{}${'}'.repeat(24)}`);
    const fills = Array.from({ length: 8 }, (_, index) => {
      const template = { key: `slow-${index}`, compiled: { ...emptyTemplate, contract: slow } };
      return fillTemplate(hasty.app, 'org_1', template, { ...someValues, data }, { dataField });
    });
    const results = await Promise.allSettled(fills);
    const reasons = results.map((one) => (one.status === 'rejected' ? one.reason : null));
    await hasty.close();
    expect(reasons.filter((reason) => reason instanceof ValidationError)).toHaveLength(3);
    expect(reasons.filter((reason) => reason instanceof CapacityError)).toHaveLength(5);
  });

  it('does not keep a command alive', async () => {
    const script = `
      import { fillTemplate } from './src/content/rendering/fill.ts';
      import { emptyTemplate, fillApp, someValues } from './test/content/rendering/fill-fixture.ts';
      const template = { key: 'a', compiled: emptyTemplate };
      const options = { dataField: 'data' };
      console.log((await fillTemplate(fillApp().app, 'org_1', template, someValues, options)).subject);
    `;
    const args = ['--input-type=module', '--eval', script];
    const { stdout } = await run(process.execPath, args, { timeout: 30_000 });
    expect(stdout).toBe('A subject\n');
  });

  it('refuses fills after the app has closed', async () => {
    const own = fillApp();
    const work = () =>
      fillTemplate(own.app, 'org_1', { key: 'a', compiled: emptyTemplate }, someValues, {
        dataField,
      });
    await work();
    await own.close();
    await expect(work()).rejects.toBeInstanceOf(CapacityError);
  });
});
