
resource "aws_launch_template" "cb" {
  instance_type = "p5.48xlarge"
  image_id      = data.aws_ssm_parameter.gpu.value
  instance_market_options { market_type = "capacity-block" }
  capacity_reservation_specification {
    capacity_reservation_target { capacity_reservation_id = "cr-0123456789abcdef0" }
  }
  metadata_options { http_tokens = "required" }
  block_device_mappings {
    device_name = "/dev/xvda"
    ebs { volume_size = 300 }
  }
  dynamic "network_interfaces" {
    for_each = range(32)
    content {
      device_index = network_interfaces.value == 0 ? 0 : 1
      network_card_index = network_interfaces.value
      interface_type = network_interfaces.value == 0 ? "efa" : "efa-only"
      security_groups = [aws_security_group.efa.id]
    }
  }
}
resource "aws_security_group" "efa" { vpc_id = "vpc-1" }
resource "aws_vpc_security_group_ingress_rule" "i" {
  security_group_id = aws_security_group.efa.id
  referenced_security_group_id = aws_security_group.efa.id
  ip_protocol = "-1"
}
resource "aws_vpc_security_group_egress_rule" "e" {
  security_group_id = aws_security_group.efa.id
  referenced_security_group_id = aws_security_group.efa.id
  ip_protocol = "-1"
}
data "aws_ssm_parameter" "gpu" { name = "/aws/service/ecs/optimized-ami/amazon-linux-2023/gpu/recommended/image_id" }
