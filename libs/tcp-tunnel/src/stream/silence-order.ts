/** A member of a {@link SilenceOrder}, which alone changes these fields. */
export interface Silent {
  longerSilent: Silent | undefined;
  shorterSilent: Silent | undefined;
}

/** Streams in the order of their last byte, longest silence first. Each method takes constant time. */
export class SilenceOrder<Member extends Silent> {
  #longest: Member | undefined;
  #shortest: Member | undefined;

  get longest(): Member | undefined {
    return this.#longest;
  }

  /** Adds the member, or moves it, as the one with the shortest silence. */
  heard(member: Member): void {
    if (this.#shortest === member) return;
    this.delete(member);
    member.longerSilent = this.#shortest;
    if (this.#shortest === undefined) this.#longest = member;
    else this.#shortest.shorterSilent = member;
    this.#shortest = member;
  }

  /** Idempotent. */
  delete(member: Member): void {
    const { longerSilent, shorterSilent } = member;
    if (longerSilent !== undefined) longerSilent.shorterSilent = shorterSilent;
    else if (this.#longest === member) this.#longest = shorterSilent as Member | undefined;
    if (shorterSilent !== undefined) shorterSilent.longerSilent = longerSilent;
    else if (this.#shortest === member) this.#shortest = longerSilent as Member | undefined;
    member.longerSilent = undefined;
    member.shorterSilent = undefined;
  }
}
