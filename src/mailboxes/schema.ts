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

/** What is told of mail in a mailbox. */
export const mailboxMessageData = z
  .object({
    mailboxId: z.string(),
    threadId: z.string().nullable(),
    message: z.looseObject({ id: z.string(), subject: z.string().nullable() }),
  })
  .meta({ id: 'MailboxMessage', description: 'A message in a mailbox' });

/** What a key or an installation did or proposed in a mailbox. */
export const mailboxActionOutput = z
  .object({
    id: z.string(),
    type: z.enum(['sendMessage', 'reply', 'forward', 'label', 'move', 'note']),
    state: z.enum(['proposed', 'approved', 'rejected', 'executed', 'failed', 'expired']),
    actor: z.string(),
    messageId: z.string().nullable(),
    threadId: z.string().nullable(),
  })
  .meta({ id: 'MailboxAction', description: 'What was done or proposed in a mailbox' });

export type Mailbox = z.output<typeof mailboxOutput>;
