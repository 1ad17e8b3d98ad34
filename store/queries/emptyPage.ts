/** What a list answers while nothing of the chain is held yet: a lower bound of nothing, and no end. */
export const emptyPage = { rows: [], next: null, totalCount: 0, totalCountCapped: true } as const
