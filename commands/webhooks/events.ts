// `svc webhooks events`. The kinds are those of daemon/http/event-kinds.ts.
import { Args } from '@oclif/core';
import type { PresentedKind } from '../../src/history/events/schema.ts';
import { BaseCommand, tableFlags } from '../base/command.ts';
import { print, printList } from '../base/output.ts';

function kindText({ type, summary, sample, schema }: PresentedKind): string {
  const inLines = (value: unknown) => JSON.stringify(value, null, 2);
  return `${type}\n${summary}\n\nSample of data:\n${inLines(sample)}\n\nSchema of data:\n${inLines(schema)}`;
}

export default class WebhooksEvents extends BaseCommand {
  static override summary = 'List the kinds of events, or show one of them';

  static override description =
    'Lists every kind that a webhook can subscribe to, also kinds of planned features.';

  static override examples = [
    { description: 'List all kinds', command: 'svc webhooks events' },
    {
      description: 'Show the schema and a sample of a kind',
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

  static override flags = tableFlags;

  async run(): Promise<void> {
    const { args, flags } = await this.parse(WebhooksEvents);
    const { eventKinds } = await import('../../daemon/http/event-kinds.ts');
    const { presentKind } = await import('../../src/history/events/kinds.ts');
    if (args.kind === undefined) {
      const items = eventKinds.map(presentKind);
      return printList(flags, { items }, ['type', 'summary'], 'There are no kinds of events.');
    }
    const { eventType } = await import('../../src/history/events/schema.ts');
    const { parseWith } = await import('../../src/core/api/validate.ts');
    const type = parseWith(eventType, args.kind, 'path');
    const kind = eventKinds.find((one) => one.type === type);
    if (kind) await print(flags, presentKind(kind), () => kindText(presentKind(kind)));
  }
}
