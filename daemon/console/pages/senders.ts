// Senders with their rates of the last days.
import type { Page } from '../page.ts';
import { type List, percent, state, table } from '../parts.ts';

interface Sender {
  email: string;
  name: string | null;
  verificationStatus: string;
  isDefault: boolean;
  deliverability: { bounceRate: number; complaintRate: number; windowSends: number };
}

export const senderPages: readonly Page[] = [
  {
    path: '/senders',
    label: 'Senders',
    needs: 'senders:read',
    async show(asked) {
      const found = await asked.api.get<List<Sender>>('/v1/email/senders', {
        page: asked.query['page'],
      });
      return {
        title: 'Senders',
        body: table(
          asked,
          found,
          [
            ['Address', ({ email, isDefault }) => (isDefault ? `${email} (default)` : email)],
            ['Name', ({ name }) => name],
            ['Status', ({ verificationStatus }) => state(verificationStatus)],
            ['Sent', ({ deliverability }) => deliverability.windowSends],
            ['Bounced', ({ deliverability }) => percent(deliverability.bounceRate)],
            ['Complaints', ({ deliverability }) => percent(deliverability.complaintRate)],
          ],
          'There is no sender yet: "svc senders create" makes one.',
        ),
        command: 'svc senders list',
        request: 'GET /v1/email/senders',
      };
    },
  },
];
