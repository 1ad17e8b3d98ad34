/** Name of the lease that a chain's writer holds. */
export const chainLease = (chainId: number): string => `index:${chainId}`
