import { messageRoutes } from '../../src/outbound/messages/routes.ts';
import { messageColumns, messageColumnsForPeople } from '../base/input/fields.ts';
import { counterpartOf, fateWords, shownMessage } from '../base/mail/message-view.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  description:
    'While a daemon runs, the filters by recipient, sender, subject, tag, run and template find a ' +
    'message about a second after it was stored; all others find it at once.',
  examples: [
    ['List the invoices sent to Ada', 'svc messages list --to ada@example.com --subject Invoice'],
    ['List received messages', 'svc messages list --direction inbound'],
    [
      'List the bounces of January',
      'svc messages list --status bounced --start-date 2026-01-01 --end-date 2026-01-31',
    ],
  ],
  names: {
    ...{ recipient: 'to', sender: 'from', conversationId: 'conversation', contactId: 'contact' },
    ...{ campaignRunId: 'run', templateId: 'template' },
  },
  ages: ['after', 'since', 'before', 'until'],
  route: messageRoutes.list,
  columns: messageColumns,
  whenEmpty: 'No messages found. Send one: svc messages send --help',
  looks: ({ items }) => ({
    rows: items.map((one) => ({ ...shownMessage(one), who: counterpartOf(one) })),
    note: fateWords(items.flatMap(({ deliveries }) => deliveries)),
    ...(process.stdout.isTTY && { columns: messageColumnsForPeople }),
  }),
});
