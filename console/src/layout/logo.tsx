export const Logo = ({ size = 26 }: { size?: number }) => (
  <img src="/favicon.svg" width={size} height={size} alt="" />
)
