// Shape of the explanation of a message: `GET /v1/messages/{id}/explain`, `svc messages explain`.
import { z } from 'zod';
import { queueStates } from '../deliveries/queue-queries.ts';
import { waitReasons } from '../deliveries/status.ts';
import { attempt, messageStatus } from '../messages/schema.ts';

const serverWords = z
  .object({
    code: z.number().nullable(),
    enhancedCode: z.string().nullable(),
    reply: z.string(),
    verb: z.string().meta({ description: '`DSN` for a bounce that came by mail' }),
    host: z.string().nullable(),
    address: z.string().nullable(),
  })
  .meta({ id: 'ServerWords', description: 'Last reply of a server' });
export type ServerWords = z.output<typeof serverWords>;

const recipientExplanation = z
  .object({
    recipientId: z.string(),
    deliveryId: z.string(),
    kind: z.enum(['to', 'cc', 'bcc']).nullable(),
    email: z.string(),
    status: messageStatus,
    state: z
      .enum([...queueStates, 'ended'])
      .meta({ description: 'State of the delivery in the queue' }),
    happened: z.string().meta({ description: 'Sentence on the last event' }),
    happenedAt: z.string(),
    waitReason: z.enum(waitReasons).nullable().meta({
      description: 'Null if the delivery does not wait, or was not checked since it began to wait',
    }),
    because: z.string().nullable().meta({ description: 'Reason for which it waits' }),
    next: z
      .string()
      .nullable()
      .meta({ description: 'The next step, by the service or by the reader' }),
    nextAt: z.string().nullable(),
    help: z
      .object({ purpose: z.string(), command: z.string() })
      .nullable()
      .meta({ description: 'Command that helps' }),
    said: serverWords.nullable().meta({ description: 'Null if no server was asked' }),
    errorCode: z.string().nullable(),
    cause: z.string().optional().meta({ description: 'Cause that the reply names' }),
    remedy: z.string().optional().meta({ description: 'Step that removes the cause' }),
    memberRefusals: z.string().optional().meta({
      description:
        'Sentence on refusals of addresses behind the recipient, from three of them in 30 days on',
    }),
    attemptCount: z.number(),
    attempts: z.array(attempt).meta({ description: 'The latest attempts, oldest first' }),
  })
  .meta({ id: 'RecipientExplanation' });
export type RecipientExplanation = z.output<typeof recipientExplanation>;

export const messageExplanation = z
  .object({
    messageId: z.string(),
    subject: z.string().nullable(),
    status: messageStatus,
    createdAt: z.string(),
    summary: z.string().meta({ description: 'Number of recipients by status, as a sentence' }),
    recipients: z.array(recipientExplanation),
  })
  .meta({ id: 'MessageExplanation', description: 'State and next step of a message, in words' });
export type MessageExplanation = z.output<typeof messageExplanation>;
