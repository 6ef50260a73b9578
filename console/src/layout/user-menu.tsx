import { Menu, Text, UnstyledButton, useMantineColorScheme, type MantineColorScheme } from '@mantine/core'
import {
  IconCheck,
  IconDeviceDesktop,
  IconLogout,
  IconMoon,
  IconSun,
  IconUserCircle,
} from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api } from '../api.ts'
import { useSession } from '../session.ts'
import { text } from '../text/index.ts'
import classes from './user-menu.module.css'

const words = text.navigation
const schemes: { value: MantineColorScheme; icon: typeof IconSun }[] = [
  { value: 'light', icon: IconSun },
  { value: 'dark', icon: IconMoon },
  { value: 'auto', icon: IconDeviceDesktop },
]

export function UserMenu() {
  const { name, role, company } = useSession()
  const navigate = useNavigate()
  const client = useQueryClient()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const signOut = async () => {
    await api.delete('/session').catch(() => undefined)
    await navigate({ to: '/sign-in', search: {} })
    client.clear()
  }
  return (
    <Menu position="bottom-end" width={240} withinPortal>
      <Menu.Target>
        <UnstyledButton className={classes['target']} aria-label={words.userMenu(name)}>
          <IconUserCircle size={24} stroke={1.5} aria-hidden />
          <Text size="sm" truncate visibleFrom="md" component="span">
            {name}
          </Text>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} c="var(--mantine-color-text)" truncate>
            {name}
          </Text>
          <Text size="xs" truncate>
            {role && text.common.roles[role]} · {company.name}
          </Text>
        </Menu.Label>
        <Menu.Item
          leftSection={<IconUserCircle size={16} aria-hidden />}
          onClick={() => void navigate({ to: '/settings/account' })}
        >
          {words.account}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>{words.scheme}</Menu.Label>
        {schemes.map(({ value, icon: Icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon size={16} aria-hidden />}
            rightSection={value === colorScheme && <IconCheck size={16} aria-hidden />}
            aria-current={value === colorScheme || undefined}
            closeMenuOnClick={false}
            onClick={() => setColorScheme(value)}
          >
            {words.schemes[value]}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => void signOut()}>
          {words.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
