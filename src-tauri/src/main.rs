fn main() {
    toolplan_desktop::run()
}
