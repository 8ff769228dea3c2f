// A mail handed over by SMTP is an ordinary send whose MIME goes as it is.
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { getEmailProjection } from '../../src/messages/email-projection.ts';
import { getMessage } from '../../src/messages/messages.ts';
import { timeline } from '../support/delivery.ts';
import {
  idIn,
  mail,
  outbound,
  type SubmissionService,
  submissionService,
  submit,
} from './submission-service.ts';

let service: SubmissionService;
beforeEach(async () => {
  service = await submissionService();
});
afterEach(() => service.close());

it('is accepted', async () => {
  const dialogue = await service.loggedIn();
  const id = idIn(await submit(dialogue, mail()));
  const message = await getMessage(service.app, service.caller, id);
  expect(message).toMatchObject({
    subject: 'Hello',
    from: { email: 'hello@sandbox.test', name: 'Ada' },
  });
  const queue = await service.queue();
  await queue.idle();
  console.log((await service.sink.waitFor(1))[0]?.raw.toString());
  console.log(await getEmailProjection(service.app, service.caller, id, {}));
  console.log(service.logged(), message);
});
