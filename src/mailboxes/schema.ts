// Shapes of mailboxes (specification 2.5).
import { z } from 'zod';

export const mailboxOutput = z
  .object({
    id: z.string(),
    organizationId: z.string(),
    slug: z.string(),
    displayName: z.string().nullable(),
    status: z.enum(['active', 'paused', 'deleted']),
    primaryAddress: z.string(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: 'Mailbox', description: 'Addresses that take mail here' });

export type Mailbox = z.output<typeof mailboxOutput>;
