import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the senders of the organization',
  examples: [
    ['Who may send', 'svc senders list'],
    ['The default', "svc senders list --json | jq '.items[] | select(.isDefault)'"],
  ],
  route: async () => (await import('../../src/senders/routes.ts')).senderRoutes.list,
  columns: ['id', 'email', 'name', 'verificationStatus', 'isDefault', 'createdAt'],
  whenEmpty: 'No senders yet: svc senders create --email A',
});
