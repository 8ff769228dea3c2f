// Daemons on one store and one virtual clock, whose heartbeats a test waits for.
import { admissionOf } from '../../../src/access/admission/admission.ts';
import type { App } from '../../../src/core/app.ts';
import type { TestApp } from '../../support/test-app.ts';
import { watchWrites } from '../../support/watched-writes.ts';

export class Daemons {
  readonly #clock: TestApp['clock'];
  readonly #running = new Set<App>();
  readonly #settling: (() => Promise<void>)[] = [];

  constructor({ clock }: Pick<TestApp, 'clock'>) {
    this.#clock = clock;
  }

  async start(app: App): Promise<App> {
    this.#settling.push(watchWrites(app.store));
    await admissionOf(app).start();
    this.#running.add(app);
    return app;
  }

  /** Advances the clock, then waits until the heartbeats that fell due are written. */
  async pass(ms: number): Promise<void> {
    await this.#clock.advance(ms);
    for (const written of this.#settling) await written();
  }

  /** Advances the clock in small steps: heartbeats come as often as they should. */
  async settled(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 250) await this.pass(250);
  }

  async stop(app: App): Promise<void> {
    this.#running.delete(app);
    await admissionOf(app).stop();
  }

  async close(): Promise<void> {
    for (const app of this.#running) await this.stop(app);
  }
}
