// Turns of due runs: organizations take turns, then their runs, page by page.

interface Due {
  id: string;
  organization_id: string;
}

/** Turns of one daemon. Runs that are not due are forgotten. */
export class RunTurns {
  /** Numbers of last turns, by run and by organization. */
  #last = new Map<string, number>();
  #turn = 0;

  /** Returns the due run whose turn is next, or undefined without one. */
  next<Run extends Due>(due: readonly Run[]): Run | undefined {
    const turnOf = (id: string) => this.#last.get(id) ?? 0;
    const [first] = due.toSorted(
      (a, b) =>
        turnOf(a.organization_id) - turnOf(b.organization_id) || turnOf(a.id) - turnOf(b.id),
    );
    const known = due.flatMap(({ id, organization_id }) => [id, organization_id]);
    this.#last = new Map(known.map((id) => [id, turnOf(id)]));
    if (first) {
      this.#turn++;
      this.#last.set(first.id, this.#turn);
      this.#last.set(first.organization_id, this.#turn);
    }
    return first;
  }
}
