import { proofRoutes } from '../../src/outbound/sending/sender-proof/routes.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  description:
    'An address that no verified domain covers is mailed a token, which proves that it can be read. It ' +
    'is the last part of the link in that mail, and works for 7 days.',
  examples: [
    [
      'Verify an address of another provider',
      'svc senders verify snd_06dq2k0qz8h3v5m1r9t4w7xy --token fW1vYmlsZS1pcy1hLXRva2VuLW9mLTMyLW9jdGV0cw',
    ],
  ],
  args,
  route: proofRoutes.verify,
  card,
});
