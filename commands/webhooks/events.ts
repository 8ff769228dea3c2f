// `svc webhooks events`. The kinds are listed in daemon/http/event-kinds.ts.
import { Args, Flags } from '@oclif/core';
import type { PresentedKind } from '../../src/history/events/schema.ts';
import { BaseCommand, type CommonFlags, tableFlags } from '../base/command.ts';
import { UsageError } from '../base/output/failure.ts';
import { print, printList } from '../base/output/output.ts';
import { callRoute } from '../base/route.ts';

const inLines = (value: unknown) => JSON.stringify(value, null, 2);

/** The parts of a JSON Schema that the table shows. */
interface Shape {
  type?: string | readonly string[];
  enum?: readonly unknown[];
  anyOf?: readonly Shape[];
  items?: Shape;
  $ref?: string;
  $defs?: Readonly<Record<string, Shape>>;
  properties?: Readonly<Record<string, Shape>>;
  description?: string;
}

const longestRefs = 5;

/**
 * Returns a shape without references: follows `$ref`, and takes the first alternative that is not
 * null.
 */
function resolved(shape: Shape, root: Shape): Shape {
  let found = shape;
  for (let refs = 0; refs < longestRefs; refs++) {
    const name = found.$ref?.split('/').at(-1);
    if (name !== undefined) found = root.$defs?.[name] ?? {};
    else if (found.anyOf) found = found.anyOf.find((one) => one.type !== 'null') ?? {};
    else break;
  }
  return found;
}

/** Returns the type of a field: `string or null`, `list of string`. */
function typeOf(shape: Shape, root: Shape): string {
  if (shape.anyOf) return [...new Set(shape.anyOf.map((one) => typeOf(one, root)))].join(' or ');
  const { type, items, enum: values } = resolved(shape, root);
  if (type === 'array') return items ? `list of ${typeOf(items, root)}` : 'list';
  return [type ?? (values ? 'string' : 'object')].flat().join(' or ');
}

/** Returns the fields of `data`. Nested fields have dotted names. */
function fieldsOf(root: Shape): object[] {
  const rows = (shape: Shape, prefix: string): object[] =>
    Object.entries(resolved(shape, root).properties ?? {}).flatMap(([name, field]) => [
      { field: prefix + name, type: typeOf(field, root), description: field.description },
      ...(prefix === '' ? rows(field, `${name}.`) : []),
    ]);
  return rows(root, '');
}

async function kindText({ type, summary, sample, schema }: PresentedKind): Promise<string> {
  const { table } = await import('../base/output/format.ts');
  const rows = fieldsOf(schema);
  const fields = rows.length > 0 ? [table(rows, ['field', 'type', 'description'])] : [];
  const example = `Example of data:\n${inLines(sample)}`;
  return [`${type}\n${summary}`, ...fields, example].join('\n\n');
}

/** Reads the kinds of this version, which needs no store, or those of the server. */
async function readKinds(flags: CommonFlags): Promise<PresentedKind[]> {
  const { eventKinds, eventRoutes } = await import('../../daemon/http/event-kinds.ts');
  if (flags.server !== undefined)
    return (await callRoute(flags, async () => eventRoutes.kinds)).items;
  const { presentKind } = await import('../../src/history/events/kinds.ts');
  return eventKinds.map(presentKind);
}

export default class WebhooksEvents extends BaseCommand {
  static override asksServer = true;

  static override summary = 'List the kinds of events, or show one of them';

  static override description =
    'Shows the fields of its data and an example; --schema prints their JSON Schema.';

  static override examples = [
    { description: 'List all kinds', command: 'svc webhooks events' },
    {
      description: 'Show the fields and an example of a kind',
      command: 'svc webhooks events message.bounced',
    },
    {
      description: 'Print a sample for a test',
      command: 'svc webhooks events domain.failed --json | jq .sample',
    },
  ];

  static override args = {
    kind: Args.string({ description: 'Kind of event, such as message.bounced' }),
  };

  static override flags = {
    ...tableFlags,
    schema: Flags.boolean({ description: 'Print the JSON Schema of the data of KIND' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(WebhooksEvents);
    if (args.kind === undefined) {
      if (flags.schema) throw new UsageError('--schema: name the kind, such as message.bounced');
      const items = await readKinds(flags);
      return printList(flags, { items }, ['type', 'summary'], 'There are no kinds of events.');
    }
    const { eventType } = await import('../../src/history/events/schema.ts');
    const { parseWith } = await import('../../src/core/api/validate.ts');
    const type = parseWith(eventType, args.kind, 'path');
    const shown = (await readKinds(flags)).find((one) => one.type === type);
    if (!shown) return;
    if (flags.schema) return print(flags, shown.schema, () => inLines(shown.schema));
    await print(flags, shown, () => kindText(shown));
  }
}
