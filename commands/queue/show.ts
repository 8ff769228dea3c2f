// `svc queue show`. src/outbound/queue/desk/queue.ts has the operation.
import { Args } from '@oclif/core';
import { QueueCommand, withQueue } from '../base/mail/queue.ts';
import { print } from '../base/output/output.ts';

const entryCard = [
  'id',
  'messageId',
  'organizationId',
  'recipient',
  'senderDomain',
  'status',
  'state',
  'lane',
  'holdId',
  'waitReason',
  'dueAt',
  'expiresAt',
  'attemptCount',
  'claimedBy',
  'errorCode',
  'lastWords',
];
const attemptCard = [
  'number',
  'at',
  'durationMs',
  'host',
  'address',
  'tls',
  'outcome',
  'verb',
  'code',
  'enhancedCode',
  'reply',
];

export default class QueueShow extends QueueCommand {
  static override summary = 'Show a delivery with its attempts and their dialogues';

  static override description =
    'Given the id of a message, shows all of its deliveries, also those that have ended.';

  static override examples = [
    {
      description: 'Show the dialogue with the server',
      command: 'svc queue show dlv_06dq2k0qz8h3v5m1r9t4w7xy',
    },
    {
      description: 'Show every delivery of a message',
      command: 'svc queue show msg_06dq2k0qz8h3v5m1r9t4w7xy --json',
    },
  ];

  static override args = {
    id: Args.string({
      description: 'Id of a delivery (dlv_…) or a message (msg_…)',
      required: true,
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(QueueShow);
    await withQueue(flags, async ({ app, organizationId, flags: common }) => {
      const { showQueueEntries } = await import('../../src/outbound/queue/desk/queue.ts');
      const { queueId } = await import('../../src/outbound/queue/desk/queue-schema.ts');
      const { idsInStore, parseTyped } = await import('../base/input/whole-id.ts');
      const id = await parseTyped(idsInStore(app, organizationId), queueId, args.id, 'path');
      const entries = await showQueueEntries(app, id, organizationId);
      const value = id.startsWith('dlv_') ? entries[0] : { items: entries };
      await print(common, value, async () => {
        const { card, plainText } = await import('../base/output/format.ts');
        const texts = entries.map(({ attempts, ...entry }) => {
          const tries = attempts.map((attempt) => {
            const dialogue = plainText(attempt.transcript ?? '').trimEnd();
            const shown = card(attempt, attemptCard);
            return dialogue === '' ? shown : `${shown}\n${dialogue.replaceAll(/^/gm, '  ')}`;
          });
          return [card(entry, entryCard), ...tries].join('\n\n');
        });
        return texts.join('\n\n\n');
      });
    });
  }
}
