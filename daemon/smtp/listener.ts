// The listener for incoming mail. It accepts mail only for our own addresses and never relays.
// transaction.ts has recipients and messages, limits.ts the bounds, server.ts the server itself.
import type { SMTPServerOptions } from 'smtp-server';
import type { App } from '../../src/core/app.ts';
import { openCertificate } from './certificate.ts';
import { type SmtpLimits, standardSmtpLimits } from './limits.ts';
import { createMailMemory } from './mail-collector.ts';
import { logRefusal } from './mail-log.ts';
import { createListener, type SmtpListener } from './server.ts';
import { Sessions } from './sessions.ts';
import { addRecipient, beginTransaction, type Reception, receiveData } from './transaction.ts';

function optionsOf(reception: Reception): SMTPServerOptions {
  const { app, limits, sessions } = reception;
  return {
    size: app.config.smtp.inbound.maxMessageBytes,
    maxRecipients: limits.recipients,
    // AUTH is off: this listener accepts no submissions.
    disabledCommands: ['AUTH'],
    onMailFrom(address, about, callback) {
      const session = sessions.find(about);
      const refusal = session && beginTransaction(reception, session, address, about);
      if (session && refusal) logRefusal(app, 'MAIL', session, refusal);
      callback(refusal);
    },
    onRcptTo({ address }, about, callback) {
      const session = sessions.find(about);
      if (!session) return callback();
      void addRecipient(reception, session, address, about).then((refusal) => {
        if (refusal) logRefusal(app, 'RCPT', session, refusal, address);
        sessions.answer(session, () => callback(refusal));
      });
    },
    onData(stream, about, callback) {
      const session = sessions.find(about);
      if (session) receiveData(reception, session, stream, about, callback);
      else stream.resume();
    },
    onClose: (about) => sessions.end(about),
  };
}

/**
 * Creates the inbound listener of a daemon; it listens only on `listen`. `limits` is for tests.
 * @throws ConfigError if the configured certificate cannot be used.
 */
export function createSmtpListener(app: App, limits: Partial<SmtpLimits> = {}): SmtpListener {
  const { host, port, maxConnections, maxMessageBytes, tls } = app.config.smtp.inbound;
  const bounds = { ...standardSmtpLimits, ...limits };
  const sessions = new Sessions(app.clock, bounds, maxConnections);
  const memory = createMailMemory(bounds.bufferedBytes, maxMessageBytes);
  return createListener({
    app,
    sessions,
    certificate: openCertificate(app, tls, 'smtp.inbound.tls'),
    address: { host, port, section: 'smtp.inbound' },
    options: optionsOf({ app, limits: bounds, sessions, memory }),
  });
}
