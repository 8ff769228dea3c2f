import { messageRoutes } from '../../src/outbound/messages/routes.ts';
import { tableFlags } from '../base/command.ts';
import { eventColumns } from '../base/input/fields.ts';
import { messageArg as args, messageIdFrom as find } from '../base/mail/message-id.ts';
import { listText } from '../base/output/output.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  summary: 'Show the timeline of a message, oldest event first',
  examples: [['Show its timeline', 'svc messages events msg_06dq2k0qz8h3v5m1r9t4w7xy']],
  args,
  find,
  route: messageRoutes.events,
  flags: tableFlags,
  view: (items, flags) =>
    listText(flags, { items }, eventColumns, 'This message has no events yet.'),
});
