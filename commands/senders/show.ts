import { senderRoutes } from '../../src/identity/senders/routes.ts';
import { idArg, showCommand } from '../base/verbs.ts';

export const args = idArg('Id of the sender (snd_…)');

export const card = [
  ...['id', 'email', 'name', 'domainId', 'verificationStatus', 'verifiedAt'],
  ...['providerLifecycle', 'providerFailureCode'],
  ...['isDefault', 'replyToEmails', 'isActive', 'createdAt'],
];

export default showCommand({
  examples: [
    ['Show whether a sender is verified', 'svc senders show snd_06dq2k0qz8h3v5m1r9t4w7xy'],
  ],
  args,
  route: senderRoutes.get,
  card,
});
