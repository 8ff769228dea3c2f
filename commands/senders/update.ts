import { Flags } from '@oclif/core';
import { senderRoutes } from '../../src/identity/senders/routes.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  summary: 'Change the name, answer addresses or state of a sender',
  examples: [
    ['Make it the default sender', 'svc senders update snd_06dq2k0qz8h3v5m1r9t4w7xy --default'],
    ['Deactivate a sender for now', 'svc senders update snd_06dq2k0qz8h3v5m1r9t4w7xy --no-active'],
  ],
  args,
  names: { replyToEmails: 'reply-to' },
  flags: {
    'reply-to': Flags.string({
      description: 'Address for answers (Reply-To); may be repeated',
      helpValue: 'ADDRESS',
      multiple: true,
      multipleNonGreedy: true,
    }),
  },
  route: senderRoutes.update,
  card,
});
