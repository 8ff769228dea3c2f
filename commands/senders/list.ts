import { senderRoutes } from '../../src/identity/senders/routes.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  examples: [
    ['List all senders', 'svc senders list'],
    ['Print the default sender', "svc senders list --json | jq '.items[] | select(.isDefault)'"],
  ],
  route: senderRoutes.list,
  columns: ['id', 'email', 'name', 'verificationStatus', 'isDefault', 'createdAt'],
  whenEmpty: 'No senders found. Create one: svc senders create --email ADDRESS',
});
