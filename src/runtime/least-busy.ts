/** Gives each piece of work to the member with the least work at that moment. */
export function leastBusy<Member>(members: readonly Member[]): <T>(work: (member: Member) => Promise<T>) => Promise<T> {
  const places = members.map((member) => ({ member, load: 0 }))
  return async (work) => {
    const place = places.reduce((least, each) => (each.load < least.load ? each : least))
    place.load++
    try {
      return await work(place.member)
    } finally {
      place.load--
    }
  }
}
