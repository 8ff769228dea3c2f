// An app for filling templates, without a store; and values to fill.
import type { CompiledTemplate, FillValues } from '../../../src/content/rendering/compiled.ts';
import type { App } from '../../../src/core/app.ts';
import { type Clock, systemClock } from '../../../src/platform/runtime/clock.ts';

export interface FillApp {
  app: App;
  close(): Promise<void>;
}

export function fillApp(clock = systemClock): FillApp {
  const ends: (() => Promise<void>)[] = [];
  const app = {
    clock,
    keep: (_name: string, make: (own: Clock) => { close(): Promise<void> }) => {
      const made = make(clock);
      ends.push(() => made.close());
      return made;
    },
  };
  return {
    app: app as unknown as App,
    close: async () => {
      for (const end of ends) await end();
    },
  };
}

export const emptyTemplate: CompiledTemplate = {
  subject: 'A subject',
  preheader: null,
  html: null,
  text: null,
  partials: {},
  textPartials: {},
  brand: null,
  priority: null,
  allowRawHtml: false,
  contract: null,
};

export const someValues: FillValues = {
  data: {},
  contact: null,
  brand: {
    name: 'Acme',
    slug: 'acme',
    logoUrl: 'https://acme.test/logo.png',
    logoDarkUrl: null,
    iconUrl: null,
    footer: {
      companyName: 'Acme & Sons',
      address: {
        street1: '1 <Main> Street',
        street2: null,
        city: 'Berlin',
        region: null,
        postalCode: '10115',
        country: 'Germany',
      },
      socialLinks: [{ label: 'News "daily"', url: 'https://acme.test/?a=1&b=2' }],
    },
  },
  sender: { email: 'news@acme.test', name: 'Acme News' },
  unsubscribeUrl: 'https://svc.test/u/recipient',
  viewUrl: null,
  message: { id: 'msg_1', createdAt: '2026-11-26T08:00:00.000Z' },
  footer: false,
};
