import { listSendersQuery } from '../../src/identity/senders/schema.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the senders of the organization',
  examples: [
    ['List all senders', 'svc senders list'],
    ['Print the default sender', "svc senders list --json | jq '.items[] | select(.isDefault)'"],
  ],
  query: listSendersQuery,
  route: async () => (await import('../../src/identity/senders/routes.ts')).senderRoutes.list,
  columns: ['id', 'email', 'name', 'verificationStatus', 'isDefault', 'createdAt'],
  whenEmpty: 'No senders found. Create one: svc senders create --email ADDRESS',
});
