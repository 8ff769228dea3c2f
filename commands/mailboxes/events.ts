// `svc mailboxes events`. src/identity/mailboxes/events.ts has the kinds of events.
import { mailboxRoutes } from '../../src/identity/mailboxes/routes.ts';
import { listCommand } from '../base/verbs.ts';
import { args } from './show.ts';

export default listCommand({
  summary: 'List the events of a mailbox, newest first',
  examples: [
    [
      'List its pauses; "svc audit" shows the actor',
      'svc mailboxes events mbx_06dq2k0qz8h3v5m1r9t4w7xy --type mailbox.paused',
    ],
  ],
  args,
  ages: ['after', 'since', 'before', 'until'],
  route: mailboxRoutes.events,
  columns: ['timestamp', 'type', 'id'],
  whenEmpty: 'This mailbox has no events yet',
});
