// `svc domains dns --format`: each form is parsed back to the records, by a parser of its own
// grammar: RFC 1035 for zone files, JSON, and the part of HCL that Terraform's resources use.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dnsText, type FormOptions } from '../../src/identity/domains/dns-forms.ts';
import type { DnsRecord } from '../../src/identity/domains/schema.ts';
import { type CliWorkspace, initializedWorkspace } from '../support/cli.ts';

type Published = Pick<DnsRecord, 'name' | 'type' | 'value'>;

const domain = 'example.com';

/** Makes a name absolute, below the origin if it has no dot at its end. */
const absolute = (name: string, origin: string | null) => {
  if (name === '@') return origin ?? '';
  return name.endsWith('.') ? name.slice(0, -1) : `${name}.${origin}`;
};

/** Reads a zone file: owner, TTL, class, type and data; strings of a TXT are joined. */
function parseZone(text: string): Published[] {
  let origin: string | null = null;
  return text.split('\n').flatMap((line) => {
    const given = /^\$ORIGIN (\S+)\.$/.exec(line)?.[1];
    if (given !== undefined) {
      origin = given;
      return [];
    }
    const [, owner = '', type = '', data = ''] =
      /^(\S+)\t3600\tIN\t(TXT|MX|CNAME)\t(.*)$/.exec(line) ?? [];
    const name = absolute(owner, origin);
    if (type !== 'TXT') {
      const [value = ''] = data.split(' ;');
      return [{ name, type: type as DnsRecord['type'], value: value.replace(/\.$/, '') }];
    }
    const strings: string[] = [];
    let rest = data;
    for (let found = true; found; ) {
      const [whole = '', inner = ''] = /^"((?:[^"\\]|\\.)*)" ?/.exec(rest) ?? [];
      found = whole !== '';
      if (!found) break;
      const string = inner.replace(/\\(.)/g, '$1');
      expect(Buffer.byteLength(string)).toBeLessThanOrEqual(255);
      strings.push(string);
      rest = rest.slice(whole.length);
    }
    expect(rest === '' || rest.startsWith(';')).toBe(true);
    return [{ name, type: 'TXT' as const, value: strings.join('') }];
  });
}

interface Plain {
  name: string;
  type: DnsRecord['type'];
  ttl: number;
  priority?: number;
  value: string;
}

function parseJson(text: string, isRelative: boolean): Published[] {
  return (JSON.parse(text) as Plain[]).map(({ name, type, ttl, priority, value }) => {
    expect(ttl).toBe(3_600);
    const whole = isRelative ? absolute(name, domain) : name;
    return { name: whole, type, value: type === 'MX' ? `${priority} ${value}` : value };
  });
}

type Hcl = string | number | boolean | Hcl[];

/**
 * Reads the value of an argument: a string, a number, a boolean, a reference, or a list of strings.
 */
function parseValue(text: string): Hcl {
  const unquote = (one: string) =>
    (JSON.parse(one) as string).replace(/\$\$\{/g, '${').replace(/%%\{/g, '%{');
  if (text.startsWith('[')) {
    return [...text.slice(1, -1).matchAll(/"(?:[^"\\]|\\.)*"/g)].map(([one]) => unquote(one));
  }
  if (text.startsWith('"')) {
    expect(text.replace(/\$\$\{|%%\{/g, '')).not.toMatch(/[$%]\{/);
    return unquote(text);
  }
  return /^\d+$/.test(text) ? Number(text) : text;
}

interface Block {
  kind: string;
  fields: Record<string, Hcl>;
}

/** Reads the blocks of resources; anything else must be a comment or a variable without a body. */
function parseHcl(text: string): Block[] {
  const blocks: Block[] = [];
  const names = new Set<string>();
  for (const part of text.split('\n\n')) {
    const [, kind, name = ''] = /^resource "(\w+)" "([a-z]\w*)" \{\n/.exec(part) ?? [];
    if (kind === undefined) {
      expect(part).toMatch(/^(?:#.*|variable "\w+" \{\})$/);
      continue;
    }
    expect(names.has(`${kind} ${name}`)).toBe(false);
    names.add(`${kind} ${name}`);
    const lines = part.split('\n').slice(1);
    expect(lines.pop()).toBe('}');
    const fields = lines.map((line) => {
      const [, field = '', value = ''] = /^ {2}(\w+) += (.+)$/.exec(line) ?? [];
      return [field, parseValue(value)] as const;
    });
    blocks.push({ kind, fields: Object.fromEntries(fields) });
  }
  return blocks;
}

function parseTerraform(text: string, isRelative: boolean) {
  const whole = (name: Hcl | undefined) =>
    isRelative ? absolute(name === '' ? '@' : String(name), domain) : String(name);
  const aws: Published[] = [];
  const cloudflare: Published[] = [];
  for (const { kind, fields } of parseHcl(text)) {
    const { name, priority } = fields;
    const type = fields.type as DnsRecord['type'];
    expect(fields.ttl).toBe(3_600);
    if (kind === 'aws_route53_record') {
      for (const value of fields.records as string[]) {
        aws.push({ name: whole(name), type, value: value.replaceAll('" "', '') });
      }
    } else {
      const { content } = fields;
      const value = type === 'MX' ? `${priority} ${content}` : String(content);
      cloudflare.push({ name: whole(name), type, value });
    }
  }
  return { aws, cloudflare };
}

const label = fc.stringMatching(/^[a-z0-9_][a-z0-9_-]{0,10}[a-z0-9]$/);
const host = fc.tuple(label, label).map((labels) => `${labels.join('.')}.net`);
const name = fc.array(label, { maxLength: 2 }).map((labels) => [...labels, domain].join('.'));
/** Printable ASCII; Route 53 joins strings by a text that no value has. */
const words = fc
  .string({ unit: fc.integer({ min: 32, max: 126 }).map((code) => String.fromCharCode(code)) })
  .filter((text) => !text.includes('" "'));
const long = fc
  .array(words, { maxLength: 60 })
  .map((parts) => parts.join('').replaceAll('" "', ''));
const record: fc.Arbitrary<Published> = fc.oneof(
  fc.record({ name, type: fc.constant('TXT' as const), value: fc.oneof(words, long) }),
  fc.record({
    name,
    type: fc.constant('MX' as const),
    value: fc.tuple(fc.nat({ max: 100 }), host).map((parts) => parts.join(' ')),
  }),
  fc.record({ name, type: fc.constant('CNAME' as const), value: host }),
);
const records = fc.array(record, { maxLength: 6 });

const sorted = (list: readonly Published[]) =>
  list
    .map((one) => JSON.stringify([one.name, one.type, one.value]))
    .toSorted((a, b) => (a < b ? -1 : 1));

describe.each([
  ['relative', true],
  ['absolute', false],
])('with %s names', (_what, isRelative) => {
  const options: FormOptions = { domain, isRelative };
  const holds = (form: Parameters<typeof dnsText>[0], parse: (text: string) => Published[]) =>
    fc.assert(
      fc.property(records, (all) => {
        expect(sorted(parse(dnsText(form, all, options)))).toEqual(sorted(all));
      }),
    );

  it.each(['zone', 'dig', 'cloudflare'] as const)('%s is read back to the records', (form) => {
    holds(form, (text) => (text === '' ? [] : parseZone(text)));
  });

  it('json is read back to the records', () => {
    holds('json', (text) => parseJson(text, isRelative));
  });

  it.each(['aws', 'cloudflare'] as const)('terraform is read back for %s', (provider) => {
    holds('terraform', (text) => parseTerraform(text, isRelative)[provider]);
  });
});

describe('svc domains dns --format', () => {
  let cli: CliWorkspace;
  let items: DnsRecord[];
  beforeAll(async () => {
    cli = await initializedWorkspace();
    await cli.json(['domains', 'add', domain]);
    ({ items } = await cli.json<{ items: DnsRecord[] }>(['domains', 'dns', domain]));
  });
  afterAll(() => cli.close());

  const shown = async (...flags: string[]) => {
    const { code, stdout } = await cli.run(['domains', 'dns', domain, '--format', ...flags]);
    expect(code).toBe(0);
    return stdout.replace(/\n$/, '');
  };

  it('prints the records of a domain in each form', async () => {
    const zone = await shown('zone', '--relative');
    expect(zone.split('\n')[0]).toBe('$ORIGIN example.com.');
    expect(sorted(parseZone(zone))).toEqual(sorted(items));
    expect(sorted(parseZone(await shown('dig')))).toEqual(sorted(items));
    expect(sorted(parseZone(await shown('cloudflare')))).toEqual(sorted(items));
    expect(sorted(parseJson(await shown('json'), false))).toEqual(sorted(items));
    const terraform = parseTerraform(await shown('terraform', '--relative'), true);
    expect(sorted(terraform.aws)).toEqual(sorted(items));
    expect(sorted(terraform.cloudflare)).toEqual(sorted(items));
    const table = await shown('table', '--relative');
    expect(table.split('\n')).toHaveLength(items.length + 1);
    expect(table).toMatch(/^MX +bounce +10 localhost/m);
  });

  it('marks each record of the import of Cloudflare as not proxied', async () => {
    const lines = (await shown('cloudflare')).split('\n');
    expect(lines.filter((line) => line.endsWith(' ; cf_tags=cf-proxied:false'))).toHaveLength(
      items.length,
    );
  });

  it('refuses another form, and --relative without one', async () => {
    for (const flags of [['--format', 'xml'], ['--relative']]) {
      expect((await cli.run(['domains', 'dns', domain, ...flags])).code).toBe(2);
    }
  });
});
